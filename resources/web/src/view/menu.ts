// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Menus that open under a button: arrow keys move, letters jump, Esc closes and gives the focus back.

import { h, icon } from "./dom";

export interface MenuItem {
  label: string;
  keys?: string;
  isEnabled?: boolean;
  isChecked?: boolean;
  run(): void;
}

export interface MenuSection {
  title: string;
  items: MenuItem[];
}

let open: { menu: HTMLElement; anchor: HTMLElement; listening: AbortController } | null = null;

export function closeMenu(): boolean {
  if (!open) return false;
  const { menu, anchor, listening } = open;
  open = null;
  listening.abort();
  const hadFocus = menu.contains(document.activeElement);
  menu.remove();
  anchor.setAttribute("aria-expanded", "false");
  if (hadFocus) anchor.focus();
  return true;
}

function itemElement(item: MenuItem): HTMLElement {
  const checkable = item.isChecked !== undefined;
  return h(
    "button",
    {
      type: "button",
      class: "menu__item",
      role: checkable ? "menuitemcheckbox" : "menuitem",
      "aria-checked": checkable ? String(item.isChecked) : null,
      "aria-disabled": item.isEnabled === false ? "true" : null,
      tabindex: "-1",
      onclick: () => {
        if (item.isEnabled === false) return;
        closeMenu();
        item.run();
      },
    },
    h("span", { class: "menu__check" }, item.isChecked ? icon("check") : null),
    h("span", { class: "menu__label" }, item.label),
    item.keys ? h("kbd", {}, item.keys) : null,
  );
}

function move(menu: HTMLElement, event: KeyboardEvent): void {
  const items = [...menu.querySelectorAll<HTMLElement>(".menu__item")];
  const at = items.findIndex((one) => one === document.activeElement);
  const go = (to: number): void => items[(to + items.length) % items.length]?.focus();
  if (event.key === "ArrowDown") go(at + 1);
  else if (event.key === "ArrowUp") go(at < 0 ? -1 : at - 1);
  else if (event.key === "Home") go(0);
  else if (event.key === "End") go(-1);
  else if (event.key === "Escape" || event.key === "Tab") closeMenu();
  else if (event.key.length === 1 && event.key !== " ") {
    const startsWith = (one: HTMLElement): boolean =>
      (one.querySelector(".menu__label")?.textContent ?? "").toLowerCase().startsWith(event.key.toLowerCase());
    const following = [...items.slice(at + 1), ...items.slice(0, at + 1)];
    following.find(startsWith)?.focus();
  } else return;
  event.preventDefault();
  event.stopPropagation();
}

/** Under the button, within the window; above it where there is no room below. */
function place(menu: HTMLElement, anchor: HTMLElement): void {
  const around = anchor.getBoundingClientRect();
  const { width, height } = menu.getBoundingClientRect();
  const margin = 8;
  const left = Math.max(margin, Math.min(around.right - width, innerWidth - width - margin));
  const below = around.bottom + 4;
  const top = below + height <= innerHeight - margin ? below : Math.max(margin, around.top - height - 4);
  menu.style.setProperty("--left", `${left}px`);
  menu.style.setProperty("--top", `${top}px`);
}

/** Opens a menu under its button, or closes it if it is open. */
export function toggleMenu(anchor: HTMLElement, name: string, sections: MenuSection[]): void {
  const wasOpen = open?.anchor === anchor;
  closeMenu();
  if (wasOpen) return;
  const parts = sections
    .filter((section) => section.items.length > 0)
    .map((section) =>
      h(
        "div",
        { class: "menu__section", role: "group", "aria-label": section.title || name },
        section.title ? h("div", { class: "menu__title", "aria-hidden": "true" }, section.title) : null,
        ...section.items.map(itemElement),
      ),
    );
  const menu = h("div", { class: "menu", role: "menu", "aria-label": name }, ...parts);
  const listening = new AbortController();
  menu.addEventListener("keydown", (event) => move(menu, event));
  document.addEventListener(
    "pointerdown",
    (event) => {
      const target = event.target as Node;
      if (!menu.contains(target) && !anchor.contains(target)) closeMenu();
    },
    { signal: listening.signal },
  );
  addEventListener("resize", () => closeMenu(), { signal: listening.signal });
  (anchor.closest("header, nav, aside") ?? document.body).append(menu); // within a landmark, for screen readers
  open = { menu, anchor, listening };
  anchor.setAttribute("aria-expanded", "true");
  place(menu, anchor);
  menu.querySelector<HTMLElement>(".menu__item")?.focus();
}
