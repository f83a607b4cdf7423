type Objects = ReadonlyMap<string, Record<string, unknown>>;

/** Creations with those first that others name as their parent, as in `"parentId": "#k1"`. RFC 8620 5.3. */
export function parentsFirst(create: Objects): Objects {
  const ordered = new Map<string, Record<string, unknown>>();
  const waiting = [...create.keys()].toReversed();
  const seen = new Set<string>();
  while (waiting.length > 0) {
    const id = waiting.at(-1) ?? '';
    const one = create.get(id);
    const parent = one?.['parentId'];
    const first = typeof parent === 'string' && parent.startsWith('#') ? parent.slice(1) : undefined;
    // What was seen before and is still not done names itself through others: it is refused when its turn comes.
    const needs = first !== undefined && create.has(first) && !ordered.has(first) && !seen.has(id);
    seen.add(id);
    if (needs) waiting.push(first);
    else {
      waiting.pop();
      if (one !== undefined && !ordered.has(id)) ordered.set(id, one);
    }
  }
  return ordered;
}

/** Updates with those first that give a role up, so that another may take it in the same call. */
export function rolesGivenUpFirst(update: Objects): Objects {
  const gives = ([, patch]: [string, Record<string, unknown>]): boolean => patch['role'] === null;
  const all = [...update];
  return new Map([...all.filter(gives), ...all.filter((one) => !gives(one))]);
}

/** Ids with children before their parents; `parentOf` answers undefined at the top and for what is unknown. */
export function childrenFirst(ids: readonly string[], parentOf: (id: string) => string | undefined): string[] {
  const depth = (id: string): number => {
    let levels = 0;
    for (let at = parentOf(id); at !== undefined && levels < 100; at = parentOf(at)) levels++;
    return levels;
  };
  const deep = new Map(ids.map((id) => [id, depth(id)]));
  return ids.toSorted((a, b) => (deep.get(b) ?? 0) - (deep.get(a) ?? 0));
}
