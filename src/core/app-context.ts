import type { AreaContext } from './area-context.ts';
import type { Operation } from './operation.ts';

/** Everything that operations and endpoints use of the running appliance. */
export interface AppContext extends AreaContext {
  /** Loads all operations at first use. */
  readonly catalogue: () => Promise<readonly Operation[]>;
}
