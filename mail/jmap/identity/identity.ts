import { formatAddress, parseAddress } from '../../message/address.ts';
import {
  addIdentity,
  alignIdentities,
  changeIdentity,
  type ClientAddress,
  identitiesOf,
  identityChanges,
  type IdentityValues,
  removeIdentity,
  type StoredIdentity,
} from '../../store/submission/identity.ts';
import { type ArgumentReader, list, nullable, object, text } from '../core/arguments.ts';
import { SUBMISSION } from '../core/capabilities.ts';
import { MethodError } from '../core/errors.ts';
import { jmapId } from '../core/ids.ts';
import type { JmapContext, MethodCall } from '../core/method.ts';
import { orDefault, readPatched, readProperties, textUpTo } from '../standard/set-properties.ts';
import { changesAfter, changesMethod, formatState, objectChanges } from '../standard/standard-changes.ts';
import { getMethod } from '../standard/standard-get.ts';
import { done, refused, setMethod, type SetOutcome } from '../standard/standard-set.ts';

/** An Identity object. RFC 8621 6. */
type IdentityObject = ReturnType<typeof identityObject>;

const IDENTITY_PROPERTIES: ReadonlySet<string> = new Set([
  'id',
  'name',
  'email',
  'replyTo',
  'bcc',
  'textSignature',
  'htmlSignature',
  'mayDelete',
]);

function identityObject(one: StoredIdentity) {
  const { id, email, own, ...values } = one;
  const { name, ...rest } = values;
  return { id: jmapId('identity', id), name, email, ...rest, mayDelete: !own };
}

/** Reads the identities; first creates those of addresses added since. */
export async function alignedIdentities(
  { store }: JmapContext,
  account: number,
): Promise<{ identities: StoredIdentity[]; state: number }> {
  const found = await store.read(identitiesOf, { account });
  if (found.aligned) return found;
  await store.write(alignIdentities, { account });
  return store.read(identitiesOf, { account });
}

const MAX_NAME_LENGTH = 255;
const MAX_SIGNATURE_LENGTH = 64 * 1024;
const MAX_ADDRESSES = 50;

const clientAddress: ArgumentReader<ClientAddress> = object({
  name: nullable(textUpTo(MAX_NAME_LENGTH)),
  email: mailAddress,
});

const addresses: ArgumentReader<ClientAddress[]> = (value, path) => {
  const read = list(clientAddress)(value, path);
  if (read.length > MAX_ADDRESSES)
    throw new MethodError('invalidArguments', `"${path}" has more than ${MAX_ADDRESSES} addresses.`);
  return read;
};

/** Properties that a client may set at any time. */
const IDENTITY_VALUES = {
  name: orDefault(textUpTo(MAX_NAME_LENGTH), ''),
  replyTo: nullable(addresses),
  bcc: nullable(addresses),
  textSignature: orDefault(textUpTo(MAX_SIGNATURE_LENGTH), ''),
  htmlSignature: orDefault(textUpTo(MAX_SIGNATURE_LENGTH), ''),
};

/** Properties at creation, with the address. */
const NEW_IDENTITY = { ...IDENTITY_VALUES, email: mailAddress };

/** Reads an address in its wire form. */
function mailAddress(value: unknown, path: string): string {
  const address = parseAddress(text(value, path));
  if (address === undefined) throw new MethodError('invalidArguments', `"${path}" must be an email address.`);
  return formatAddress(address);
}

/** Identity/get. RFC 8621 6.1. */
export const identityGet = getMethod({
  name: 'Identity/get',
  capability: SUBMISSION,
  properties: IDENTITY_PROPERTIES,
  async find({ context, session }, { access }) {
    const { identities, state } = await alignedIdentities(context, access.account);
    await session.onWords?.({ account: access.account, kinds: ['mailboxes'], written: false });
    return { found: identities.map(identityObject), state: formatState(state) };
  },
});

/** Identity/changes. RFC 8621 6.2. */
export const identityChangesMethod = changesMethod('Identity/changes', SUBMISSION, async (context, request) => {
  await alignedIdentities(context, request.access.account);
  return objectChanges(request, 'identity', await context.store.read(identityChanges, changesAfter(request)));
});

/** Identity/set. RFC 8621 6.3. */
export const identitySet = setMethod('Identity/set', SUBMISSION, (call, { account }) => ({
  async state() {
    return formatState((await alignedIdentities(call.context, account)).state);
  },
  create: (_creationId, object) => create(call, account, object),
  update: (id, patch) => update(call, account, id, patch),
  destroy: (id) => destroy(call, account, id),
}));

/** Properties that go into all mail sent under the identity. */
const OUTGOING_PROPERTIES = [
  'replyTo',
  'bcc',
  'textSignature',
  'htmlSignature',
] as const satisfies (keyof IdentityValues)[];

const EMPTY_PROPERTIES: Pick<IdentityValues, (typeof OUTGOING_PROPERTIES)[number]> = {
  replyTo: null,
  bcc: null,
  textSignature: '',
  htmlSignature: '',
};

/**
 * Forbids agents to change properties that affect people's mail: a prompt-injected Bcc would copy all later mail to an
 * attacker, without passing the agent gate.
 */
async function isForbiddenToAgent(
  { session }: MethodCall,
  before: typeof EMPTY_PROPERTIES,
  after: typeof EMPTY_PROPERTIES,
): Promise<boolean> {
  const lasts = OUTGOING_PROPERTIES.some((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return lasts && (await session.isAgent?.()) === true;
}

async function create(
  call: MethodCall,
  account: number,
  object: Record<string, unknown>,
): Promise<SetOutcome<IdentityObject>> {
  const read = readProperties(NEW_IDENTITY, object);
  if (read.kind === 'refused') return read;
  const { email, ...values } = read.value;
  if (await isForbiddenToAgent(call, EMPTY_PROPERTIES, values)) return agentForbidden;
  await call.session.onWords?.({ account, kinds: ['mailboxes'], written: true });
  const saved = await call.context.store.write(addIdentity, { account, email, values });
  switch (saved.kind) {
    case 'saved':
      return done({ ...identityObject({ id: saved.id, email, own: false, ...values }) });
    case 'foreign':
      return refused('forbiddenFrom', `${email} is not an address of this account.`);
    case 'too-many':
      return refused('overQuota', 'The account has reached its maximum number of identities. Destroy one first.');
  }
}

async function update(
  call: MethodCall,
  account: number,
  id: string,
  patch: Record<string, unknown>,
): Promise<SetOutcome<null>> {
  const current = await identityNamed(call.context, account, id);
  if (current === undefined) return notFound(id);
  const read = readPatched(IDENTITY_VALUES, identityObject(current), patch);
  if (read.kind === 'refused') return read;
  if (await isForbiddenToAgent(call, current, read.value)) return agentForbidden;
  await call.session.onWords?.({ account, kinds: ['mailboxes'], written: true });
  const { kind } = await call.context.store.write(changeIdentity, { account, id: current.id, values: read.value });
  return kind === 'changed' ? done(null) : notFound(id);
}

async function destroy(call: MethodCall, account: number, id: string): Promise<SetOutcome<null>> {
  const { context } = call;
  const current = await identityNamed(context, account, id);
  if (current === undefined) return notFound(id);
  if (await isForbiddenToAgent(call, current, EMPTY_PROPERTIES)) return agentForbidden;
  const { kind } = await context.store.write(removeIdentity, { account, id: current.id });
  if (kind === 'missing') return notFound(id);
  if (kind === 'removed') return done(null);
  return refused('forbidden', 'This identity belongs to an address of the account. It is deleted with the address.');
}

async function identityNamed(context: JmapContext, account: number, id: string): Promise<StoredIdentity | undefined> {
  const { identities } = await alignedIdentities(context, account);
  return identities.find((one) => jmapId('identity', one.id) === id);
}

const agentForbidden = refused(
  'forbidden',
  'Agents cannot set signature, Reply-To or Bcc of an identity. A person must set them.',
);

const notFound = (id: string): SetOutcome<never> => refused('notFound', `No identity ${id}.`);
