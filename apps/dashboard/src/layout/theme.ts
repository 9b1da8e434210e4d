// Light, dark, or as the system says. Kept in localStorage; without a choice the style sheet follows the system.
export type Theme = 'system' | 'light' | 'dark';

const NAME = 'hindcast.theme';

export function chosenTheme(): Theme {
  try {
    const kept = localStorage.getItem(NAME);
    return kept === 'light' || kept === 'dark' ? kept : 'system';
  } catch {
    return 'system';
  }
}

export function applyTheme(theme: Theme = chosenTheme()): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

export function chooseTheme(theme: Theme): void {
  applyTheme(theme);
  try {
    if (theme === 'system') localStorage.removeItem(NAME);
    else localStorage.setItem(NAME, theme);
  } catch {
    // A browser that keeps nothing: the choice lasts until the page is left.
  }
}
