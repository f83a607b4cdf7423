const load = async () => ({
  ...(await import('./catalogue.ts')),
  ...(await import('./perform.ts')),
  ...(await import('./description.ts')),
});

let loading: ReturnType<typeof load> | undefined;

/**
 * Loads the catalogue at the first request, so that a server without agents does not pay its memory; cached, because
 * every `import()` runs the loader and leaves long-lived garbage.
 */
export function operations(): ReturnType<typeof load> {
  loading ??= load();
  return loading;
}
