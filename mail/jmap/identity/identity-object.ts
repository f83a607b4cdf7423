import { formatAddress, parseAddress } from '../../message/address.ts';
import { alignIdentities, type ClientAddress, identitiesOf, type StoredIdentity } from '../../store/identity.ts';
import { list, nullable, object, type Reader, text } from '../arguments.ts';
import { MethodError } from '../errors.ts';
import { jmapId } from '../ids.ts';
import type { JmapDesk } from '../method.ts';
import { orDefault, textUpTo } from '../set-properties.ts';

/** RFC 8621 6. */
export type IdentityObject = ReturnType<typeof identityObject>;

export const IDENTITY_PROPERTIES: ReadonlySet<string> = new Set([
  'id',
  'name',
  'email',
  'replyTo',
  'bcc',
  'textSignature',
  'htmlSignature',
  'mayDelete',
]);

export function identityObject(one: StoredIdentity) {
  const { id, email, own, ...values } = one;
  const { name, ...rest } = values;
  return { id: jmapId('identity', id), name, email, ...rest, mayDelete: !own };
}

/** Identities as they should be: those of addresses that came meanwhile are made first. */
export async function alignedIdentities(
  { store }: JmapDesk,
  account: number,
): Promise<{ identities: StoredIdentity[]; state: number }> {
  const found = await store.read(identitiesOf, { account });
  if (found.aligned) return found;
  await store.write(alignIdentities, { account });
  return store.read(identitiesOf, { account });
}

const LONGEST_NAME = 255;
const LONGEST_SIGNATURE = 64 * 1024;
const MOST_ADDRESSES = 50;

const clientAddress: Reader<ClientAddress> = object({ name: nullable(textUpTo(LONGEST_NAME)), email: mailAddress });

const addresses: Reader<ClientAddress[]> = (value, path) => {
  const read = list(clientAddress)(value, path);
  if (read.length > MOST_ADDRESSES)
    throw new MethodError('invalidArguments', `"${path}" has more than ${MOST_ADDRESSES} addresses.`);
  return read;
};

/** What a client may set at any time. */
export const IDENTITY_VALUES = {
  name: orDefault(textUpTo(LONGEST_NAME), ''),
  replyTo: nullable(addresses),
  bcc: nullable(addresses),
  textSignature: orDefault(textUpTo(LONGEST_SIGNATURE), ''),
  htmlSignature: orDefault(textUpTo(LONGEST_SIGNATURE), ''),
};

/** And its address, when it is made. */
export const NEW_IDENTITY = { ...IDENTITY_VALUES, email: mailAddress };

/** An address as it goes on the wire. */
function mailAddress(value: unknown, path: string): string {
  const address = parseAddress(text(value, path));
  if (address === undefined) throw new MethodError('invalidArguments', `"${path}" must be a mail address.`);
  return formatAddress(address);
}
