// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Bundles the browser studio:  node build.mjs FOLDER          the page
//                              node build.mjs FOLDER TEST...  unit tests, each to a file of its own that node can run
//
// Everything that the page loads ends up in the folder; nothing is fetched at run time.

import { build } from "esbuild";
import { copyFile, mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

function kebab(name) {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function colours(tokens, theme) {
  const own = Object.entries(tokens[theme]).map(([name, value]) => `--${kebab(name)}: ${value};`);
  const ramp = tokens.entropyRamp[theme].map((value, level) => `--entropy-${level}: ${value};`);
  // Ink on the darker stops of the ramp must keep a contrast of 4.5 to 1, which the dark theme's own ink does not.
  const more =
    theme === "light"
      ? ["--entropy-ink: var(--ink);", "--shadow: #0003;", "--backdrop: #26221c66;"]
      : ["--entropy-ink: #fff;", "--shadow: #0008;", "--backdrop: #0008;"];
  return [...own, ...ramp, ...more].join(" ");
}

/** The design tokens as custom properties. */
async function tokensCss() {
  const tokens = JSON.parse(await readFile(join(here, "../design/tokens.json"), "utf8"));
  const family = (names) =>
    names.map((name) => (name.includes("serif") || name === "monospace" ? name : `"${name}"`)).join(", ");
  const fonts = ["ui", "page", "mono"].map((use) => `--font-${use}: ${family(tokens.font[use])};`);
  const sizes = Object.entries(tokens.font.size).map(([name, px]) => `--size-${name}: ${px}px;`);
  const radii = Object.entries(tokens.radius).map(([name, px]) => `--radius-${name}: ${px}px;`);
  const motion = Object.entries(tokens.motion).map(([name, ms]) => `--motion-${kebab(name)}: ${ms}ms;`);
  const widths = ["library", "page", "inspector"].map((name) => `--width-${name}: ${tokens.width[name]}px;`);
  const rest = [`--page-line-height: ${tokens.font.pageLineHeight};`, `--touch-target: ${tokens.width.touchTarget}px;`];
  return [
    `:root { ${[...fonts, ...sizes, ...radii, ...motion, ...widths, ...rest].join(" ")} ${colours(tokens, "light")} }`,
    `@media (prefers-color-scheme: dark) { :root:not([data-theme="light"]) { ${colours(tokens, "dark")} } }`,
    `:root[data-theme="dark"] { ${colours(tokens, "dark")} }`,
  ].join("\n");
}

const designTokens = {
  name: "design-tokens",
  setup(bundler) {
    bundler.onResolve({ filter: /^design-tokens$/ }, () => ({ path: "design-tokens", namespace: "design-tokens" }));
    bundler.onLoad({ filter: /.*/, namespace: "design-tokens" }, async () => ({
      contents: await tokensCss(),
      loader: "css",
    }));
  },
};

async function buildPage(folder) {
  await mkdir(folder, { recursive: true });
  await build({
    entryPoints: { studio: join(here, "src/main.ts"), "studio-style": join(here, "styles/studio.css") },
    outdir: folder,
    bundle: true,
    minify: true,
    format: "esm",
    target: ["es2022", "chrome111", "firefox114", "safari16.4"],
    loader: { ".woff2": "file" },
    assetNames: "fonts/[name]",
    alias: { "style-mod": join(here, "src/view/page/style_modules.ts") },
    plugins: [designTokens],
    legalComments: "none",
    logLevel: "warning",
  });
  for (const file of ["index.html", "icon.svg"]) await copyFile(join(here, file), join(folder, file));
}

async function buildTests(folder, tests) {
  await build({
    entryPoints: tests,
    outdir: folder,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node18",
    sourcemap: "inline",
    outExtension: { ".js": ".mjs" },
    nodePaths: [join(here, "node_modules")],
    logLevel: "warning",
  });
}

const [folder, ...tests] = process.argv.slice(2);
if (!folder) throw new Error("usage: node build.mjs FOLDER [TEST...]");
await (tests.length > 0 ? buildTests(folder, tests) : buildPage(folder));
