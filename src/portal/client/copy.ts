import { wordsAround } from './words.ts';

/** Adds a Copy button to secrets and to values that people paste elsewhere. Without a clipboard nothing is added. */
export function addCopyButtons(): void {
  // Undefined on pages without TLS that are not on loopback.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard === undefined) return;
  for (const value of document.querySelectorAll<HTMLElement>('.secret output, [data-copy]')) {
    value.after(buttonFor(value, clipboard));
  }
}

function buttonFor(value: HTMLElement, clipboard: Clipboard): HTMLButtonElement {
  const words = wordsAround(value);
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'text small copy-button';
  button.textContent = words.copy;
  const name = value.getAttribute('aria-label') ?? value.dataset['copy'] ?? '';
  if (name !== '') button.setAttribute('aria-label', words.copyOf(name));
  button.addEventListener('click', () => {
    clipboard.writeText(value.textContent).then(
      () => (button.textContent = words.copied),
      () => (button.textContent = words.copyFailed),
    );
  });
  return button;
}
