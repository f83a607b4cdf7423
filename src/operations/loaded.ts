const load = async () => ({
  ...(await import('./catalogue.ts')),
  ...(await import('./perform.ts')),
  ...(await import('./description.ts')),
});

let loading: ReturnType<typeof load> | undefined;

/**
 * The catalogue and what runs it. Its memory is paid at the first request, not by a box without agents; asked for once,
 * because every `import()` costs a way through the loader and garbage that lives long.
 */
export function operations(): ReturnType<typeof load> {
  loading ??= load();
  return loading;
}
