/** What others wrote must not steer the terminal that shows it: control characters other than tab and line end become U+FFFD. */
// eslint-disable-next-line no-control-regex
export const safeText = (text: string): string => text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '�');
