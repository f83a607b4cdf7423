import type { LookContext } from '../../domains/look.ts';
import type { Call } from '../operation.ts';

/** For a look at the DNS that somebody asked for: what is found is written with an audit row that names the domain. */
export function lookContext(call: Call, name: string): LookContext {
  const { store, settings, lookNow, parents, keys } = call;
  return { store, settings, lookNow, parents, keys, write: (what, input) => call.change(what, input, name) };
}
