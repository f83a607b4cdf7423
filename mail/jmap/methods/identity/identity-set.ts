import {
  addIdentity,
  changeIdentity,
  type IdentityValues,
  removeIdentity,
  type StoredIdentity,
} from '../../../store/identity.ts';
import { SUBMISSION } from '../../capabilities.ts';
import {
  alignedIdentities,
  IDENTITY_VALUES,
  type IdentityObject,
  identityObject,
  NEW_IDENTITY,
} from '../../identity/identity-object.ts';
import { jmapId } from '../../ids.ts';
import type { Call, JmapDesk, Method } from '../../method.ts';
import { refusing } from '../../set-refusal.ts';
import { readPatched, readProperties } from '../../set-properties.ts';
import { done, type Outcome, readSet, refused, runSet, type Setter } from '../../standard-set.ts';
import { formatState } from '../../state.ts';

/** Identity/set. RFC 8621 6.3. */
export const identitySet: Method = {
  name: 'Identity/set',
  capability: SUBMISSION,
  run(call, args) {
    const asked = readSet(call, args, {});
    return runSet(call, asked, refusing(setter(call, asked.access.account), call.desk.log));
  },
};

function setter(call: Call, account: number): Setter {
  const { desk } = call;
  return {
    async state() {
      return formatState((await alignedIdentities(desk, account)).state);
    },
    create: (_creationId, object) => create(call, account, object),
    update: (id, patch) => update(call, account, id, patch),
    destroy: (id) => destroy(call, account, id),
  };
}

/** What goes into mail that is written under an identity, whoever writes it. */
const LASTING = ['replyTo', 'bcc', 'textSignature', 'htmlSignature'] as const satisfies (keyof IdentityValues)[];

const BARE: Pick<IdentityValues, (typeof LASTING)[number]> = {
  replyTo: null,
  bcc: null,
  textSignature: '',
  htmlSignature: '',
};

/**
 * People's programs write as identities say: an agent that was talked into a Bcc would have a copy of all that its person
 * sends from then on, and no gate would see whose wish that was.
 */
async function isForPeople({ session }: Call, before: typeof BARE, after: typeof BARE): Promise<boolean> {
  const lasts = LASTING.some((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return lasts && (await session.isAgents?.()) === true;
}

async function create(call: Call, account: number, object: Record<string, unknown>): Promise<Outcome<IdentityObject>> {
  const read = readProperties(NEW_IDENTITY, object);
  if (read.kind === 'refused') return read;
  const { email, ...values } = read.value;
  if (await isForPeople(call, BARE, values)) return forPeople;
  const saved = await call.desk.store.write(addIdentity, { account, email, values });
  switch (saved.kind) {
    case 'saved':
      return done({ ...identityObject({ id: saved.id, email, own: false, ...values }) });
    case 'foreign':
      return refused('forbiddenFrom', `${email} is not an address of this account.`);
    case 'too-many':
      return refused('overQuota', 'The account has as many identities as it may have: destroy one first.');
  }
}

async function update(call: Call, account: number, id: string, patch: Record<string, unknown>): Promise<Outcome<null>> {
  const current = await identityNamed(call.desk, account, id);
  if (current === undefined) return notFound(id);
  const read = readPatched(IDENTITY_VALUES, identityObject(current), patch);
  if (read.kind === 'refused') return read;
  if (await isForPeople(call, current, read.value)) return forPeople;
  const { kind } = await call.desk.store.write(changeIdentity, { account, id: current.id, values: read.value });
  return kind === 'changed' ? done(null) : notFound(id);
}

async function destroy(call: Call, account: number, id: string): Promise<Outcome<null>> {
  const { desk } = call;
  const current = await identityNamed(desk, account, id);
  if (current === undefined) return notFound(id);
  if (await isForPeople(call, current, BARE)) return forPeople;
  const { kind } = await desk.store.write(removeIdentity, { account, id: current.id });
  if (kind === 'missing') return notFound(id);
  if (kind === 'removed') return done(null);
  return refused('forbidden', 'It belongs to an address of the account and goes when the address does.');
}

async function identityNamed(desk: JmapDesk, account: number, id: string): Promise<StoredIdentity | undefined> {
  const { identities } = await alignedIdentities(desk, account);
  return identities.find((one) => jmapId('identity', one.id) === id);
}

const forPeople = refused(
  'forbidden',
  'Signatures, Reply-To and Bcc of an identity go into what people write: a person sets them, no agent does.',
);

const notFound = (id: string): Outcome<never> => refused('notFound', `There is no identity ${id}.`);
