/** Names of the levels above a mailbox, from the top: `a` and `a/b` for `a/b/c`. */
export function levelsAbove(name: string): string[] {
  const levels: string[] = [];
  for (let slash = name.indexOf('/'); slash > 0; slash = name.indexOf('/', slash + 1))
    levels.push(name.slice(0, slash));
  return levels;
}
