/** Those keys of a sender that a delivery is noted under: what is only claimed is remembered when a person says that it is junk. */
export function notedKeys(keys: readonly string[]): string[] {
  return keys.filter((key) => !key.startsWith('c:'));
}
