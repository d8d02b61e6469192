/** Makes elements of the page; text is always text, never HTML. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element.
 *
 * @param {string} tag such as "p"
 * @param {object} attributes null and false leave one out; functions are listeners, such as `onclick`
 * @param {...(Node|string|null)} children
 */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An element of a drawing. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      element.addEventListener(name.slice(2), value);
    } else if (value !== null && value !== false) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** The element of the page with this id. */
export function byId(id) {
  return document.getElementById(id);
}
