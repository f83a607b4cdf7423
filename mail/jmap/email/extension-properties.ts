import { filterResultsOf, type StoredFilterResult } from '../../store/filter/filter-result.ts';
import { MAILSTEAD } from '../core/capabilities.ts';
import type { MethodCall } from '../core/method.ts';

/** An Email property of another capability, available only with that capability in `using`. RFC 8620 2. */
export interface ExtensionProperty {
  readonly name: string;
  readonly capability: string;
  /** Reads the values by email row; all rows belong to the account. */
  read(call: MethodCall, account: number, emails: readonly number[]): Promise<ReadonlyMap<number, unknown>>;
}

/** `mailstead:trust` for programs, and `mailstead:verdict` with its findings for people. */
const TRUST_PROPERTIES: readonly ExtensionProperty[] = [trustProperty('trust'), trustProperty('verdict')];

function trustProperty(name: keyof StoredFilterResult): ExtensionProperty {
  return {
    name: `mailstead:${name}`,
    capability: MAILSTEAD,
    async read({ context: { store } }, _account, emails) {
      const known = await store.read(filterResultsOf, { emails });
      return new Map([...known].map(([email, one]) => [email, one[name]]));
    },
  };
}

/** All Email properties beyond RFC 8621. */
const EXTENSION_PROPERTIES: readonly ExtensionProperty[] = TRUST_PROPERTIES;

/** The extension properties of the capabilities in `using`. */
export function extensionPropertiesOf(
  call: MethodCall,
  all: readonly ExtensionProperty[] = EXTENSION_PROPERTIES,
): ExtensionProperty[] {
  return all.filter(({ capability }) => call.using.has(capability));
}

/** Adds the requested extension properties to the objects, which are in the order of `emails`. */
export async function addExtensionProperties(
  call: MethodCall,
  account: number,
  emails: readonly number[],
  objects: readonly Record<string, unknown>[],
  requested: readonly ExtensionProperty[],
): Promise<void> {
  for (const property of requested) {
    const values = await property.read(call, account, emails);
    for (const [i, object] of objects.entries()) object[property.name] = values.get(emails[i] ?? 0) ?? null;
  }
}
