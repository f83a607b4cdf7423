import { localizeTimes } from './times.ts';

const PAUSE_MS = 2_000;

/** Sections that are kept up to date. */
const followed = new Set<HTMLElement>();

/** Keeps the part of the page up to date that the server marks as changing. The rest stays: forms keep what was typed. */
export function refreshLiveSection(): void {
  const section = document.querySelector<HTMLElement>('[data-live-section]');
  if (section !== null) followSection(section);
}

/** Keeps a section up to date from now on, until the server says that it does not change any more. */
export function followSection(section: HTMLElement): void {
  if (followed.has(section)) return;
  followed.add(section);
  removeHint(section);
  const schedule = (): void => void setTimeout(() => void refresh(section).then(next, schedule), PAUSE_MS);
  const next = (changes: boolean): void => {
    if (changes) schedule();
    else followed.delete(section);
  };
  schedule();
}

/** Fetches the page again. False: the section does not change any more, or the session has ended. */
async function refresh(section: HTMLElement): Promise<boolean> {
  // Replacing an element takes the focus away from it, in the middle of a key press.
  if (document.hidden || section.contains(document.activeElement)) return true;
  const response = await fetch(location.pathname, { headers: { 'x-page-refresh': '1' } });
  if (response.status === 429 || response.status >= 500) return true;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const fresh = page.getElementById(section.id);
  if (fresh === null) return false;
  removeHint(fresh);
  section.replaceChildren(...fresh.childNodes);
  localizeTimes(section);
  return section.toggleAttribute('data-live-section', fresh.hasAttribute('data-live-section'));
}

/** Removes the sentence for browsers without scripts. */
function removeHint(section: HTMLElement): void {
  section.querySelector('[data-without-script]')?.remove();
}
