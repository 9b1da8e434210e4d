/** What is used of it; it brings no types. */
declare module 'js-yaml' {
  export function load(text: string): unknown;
}
