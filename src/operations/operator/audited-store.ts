import type { Store } from '../../../mail/store/engine/types.ts';
import type { Call } from '../../core/operation.ts';

/** Wraps the store for functions that write by themselves: every write gets its audit row. */
export function auditedStore(call: Call, target: string): Store {
  const { store } = call;
  return {
    write: (what, input) => call.change(what, input, target),
    writeSlice: (what, input) => call.change(what, input, target),
    read: (what, input) => store.read(what, input),
    scan: (what, input) => store.scan(what, input),
    onWakeUp: (listener) => store.onWakeUp(listener),
  };
}
