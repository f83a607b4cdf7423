/** Lets one checkbox check all of a list: `data-all` has the name of the others. */
export function selectAll(): void {
  for (const all of document.querySelectorAll<HTMLInputElement>('input[data-all]')) {
    const others = [...document.querySelectorAll<HTMLInputElement>(`input[name="${all.dataset['all'] ?? ''}"]`)];
    all.closest('label')?.removeAttribute('hidden');
    all.addEventListener('change', () => {
      for (const one of others) one.checked = all.checked;
    });
    for (const one of others) {
      one.addEventListener('change', () => {
        all.checked = others.every(({ checked }) => checked);
      });
    }
  }
}
