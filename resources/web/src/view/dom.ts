// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Making elements. Text always becomes text nodes, never markup.

type Listener<E extends Event> = (event: E) => void;

export interface Attributes {
  class?: string;
  onclick?: Listener<MouseEvent>;
  oninput?: Listener<Event>;
  onchange?: Listener<Event>;
  onkeydown?: Listener<KeyboardEvent>;
  onsubmit?: Listener<SubmitEvent>;
  onpointerdown?: Listener<PointerEvent>;
  onfocus?: Listener<FocusEvent>;
  onblur?: Listener<FocusEvent>;
  [attribute: string]: unknown;
}

export type Child = Node | string | null;

/** An element with attributes and children. Names that begin with "on" are listeners; false and null leave one out. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value as EventListener);
    else if (name === "class") element.className = String(value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child): child is Node | string => child !== null));
  return element;
}

/** A button that is not a form's. */
export function button(label: Child, attributes: Attributes = {}): HTMLButtonElement {
  return h("button", { type: "button", ...attributes }, label);
}

/** Writes a text only if it differs: an untouched node keeps a reader's place and costs no layout. */
export function setText(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

/** Sets or takes away an attribute; `true` is the empty attribute. */
export function setAttribute(element: Element, name: string, value: string | boolean | null): void {
  const text = value === true ? "" : value === false || value === null ? null : value;
  if (text === null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== text) element.setAttribute(name, text);
}

/** Brings the children of an element in line with a list, keeping those elements whose key is still there. */
export function keyed<T>(
  parent: Element,
  items: readonly T[],
  key: (item: T) => string,
  create: (item: T) => HTMLElement,
  update: (element: HTMLElement, item: T) => void,
): void {
  const known = new Map<string, HTMLElement>();
  for (const child of parent.children) {
    if (child instanceof HTMLElement && child.dataset["key"] !== undefined) known.set(child.dataset["key"], child);
  }
  let place: Element | null = parent.firstElementChild;
  for (const item of items) {
    const name = key(item);
    let element = known.get(name);
    known.delete(name);
    if (!element) {
      element = create(item);
      element.dataset["key"] = name;
    }
    update(element, item);
    if (element === place) place = place.nextElementSibling;
    else parent.insertBefore(element, place);
  }
  for (const gone of known.values()) gone.remove();
}

const svgNamespace = "http://www.w3.org/2000/svg";

export function svg(tag: string, attributes: Record<string, string | number>, ...children: Element[]): SVGElement {
  const element = document.createElementNS(svgNamespace, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** Outlines on a grid of 16, drawn for this studio. */
const icons = {
  undo: "M6 3 2.5 6.5 6 10M2.5 6.5H10a3.5 3.5 0 0 1 0 7H7",
  redo: "M10 3l3.5 3.5L10 10M13.5 6.5H6a3.5 3.5 0 0 0 0 7h3",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  menu: "M2.5 4h11M2.5 8h11M2.5 12h11",
  close: "M4 4l8 8M12 4l-8 8",
  check: "M3 8.5 6.5 12 13 4.5",
  first: "M3.5 3.5v9M12.5 3.5 6 8l6.5 4.5z",
  back: "M11 3.5 4.5 8l6.5 4.5z",
  play: "M5 3.5 11.5 8 5 12.5z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  last: "M12.5 3.5v9M3.5 3.5 10 8l-6.5 4.5z",
  panel: "M2.5 3.5h11v9h-11zM10 3.5v9",
  ask: "M2.5 3.5h11v7.5H8l-3 2.5V11H2.5z",
  lock: "M4.5 7.5h7v5h-7zM5.75 7.5V5.25a2.25 2.25 0 0 1 4.5 0V7.5",
  search: "M7 2.75a4.25 4.25 0 1 1 0 8.5 4.25 4.25 0 0 1 0-8.5zM10.25 10.25l3 3",
  bin: "M3 4.5h10M6 4.5V3h4v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5",
} as const;

export type IconName = keyof typeof icons;

export function icon(name: IconName): SVGElement {
  return svg(
    "svg",
    { viewBox: "0 0 16 16", class: `icon icon--${name}`, "aria-hidden": "true", focusable: "false" },
    svg("path", { d: icons[name] }),
  );
}

/** A circle whose right half is filled: words by how settled they are. */
export function halfIcon(): SVGElement {
  return svg(
    "svg",
    { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true", focusable: "false" },
    svg("path", { d: "M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11z" }),
    svg("path", { d: "M8 2.5a5.5 5.5 0 0 1 0 11z", class: "icon__filled" }),
  );
}

export function iconButton(name: IconName, label: string, attributes: Attributes = {}): HTMLButtonElement {
  return button(icon(name), { class: "icon-button", "aria-label": label, title: label, ...attributes });
}
