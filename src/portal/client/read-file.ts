/** Reads a chosen file into the text field that `data-into` names: forms send text only. */
export function readFiles(): void {
  for (const chooser of document.querySelectorAll<HTMLInputElement>('input[type="file"][data-into]')) {
    const target = document.getElementById(chooser.dataset['into'] ?? '');
    if (!(target instanceof HTMLTextAreaElement)) continue;
    chooser.closest('[hidden]')?.removeAttribute('hidden');
    chooser.addEventListener('change', () => {
      const [file] = chooser.files ?? [];
      void file?.text().then((text) => (target.value = text));
    });
  }
}
