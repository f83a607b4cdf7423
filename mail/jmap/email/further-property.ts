import { JUDGED } from './judged-property.ts';
import type { Call } from '../method.ts';

/** A property of Email that another capability adds: known only to who has it in `using`. RFC 8620 2. */
export interface FurtherProperty {
  readonly name: string;
  readonly capability: string;
  /** Its values by the rows of messages, all of them of the account; null where there is none. */
  read(call: Call, account: number, emails: readonly number[]): Promise<ReadonlyMap<number, unknown>>;
}

/** Properties beyond RFC 8621; who adds one lists it here. */
export const FURTHER_PROPERTIES: readonly FurtherProperty[] = JUDGED;

/** Those that the client may ask for. */
export function furtherOf(call: Call, all: readonly FurtherProperty[] = FURTHER_PROPERTIES): FurtherProperty[] {
  return all.filter(({ capability }) => call.using.has(capability));
}

/** Puts the properties asked for into the objects, which are in the order of `emails`. */
export async function addFurther(
  call: Call,
  account: number,
  emails: readonly number[],
  objects: readonly Record<string, unknown>[],
  asked: readonly FurtherProperty[],
): Promise<void> {
  for (const property of asked) {
    const values = await property.read(call, account, emails);
    for (const [i, object] of objects.entries()) object[property.name] = values.get(emails[i] ?? 0) ?? null;
  }
}
