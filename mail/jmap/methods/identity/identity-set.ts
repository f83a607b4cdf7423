import { addIdentity, changeIdentity, removeIdentity, type StoredIdentity } from '../../../store/identity.ts';
import { SUBMISSION } from '../../capabilities.ts';
import {
  alignedIdentities,
  IDENTITY_VALUES,
  type IdentityObject,
  identityObject,
  NEW_IDENTITY,
} from '../../identity/identity-object.ts';
import { jmapId, jmapRow } from '../../ids.ts';
import type { JmapDesk, Method } from '../../method.ts';
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
    return runSet(call, asked, refusing(setter(call.desk, asked.access.account), call.desk.log));
  },
};

function setter(desk: JmapDesk, account: number): Setter {
  return {
    async state() {
      return formatState((await alignedIdentities(desk, account)).state);
    },
    create: (_creationId, object) => create(desk, account, object),
    update: (id, patch) => update(desk, account, id, patch),
    async destroy(id) {
      const row = jmapRow('identity', account, id);
      if (row === undefined) return notFound(id);
      const { kind } = await desk.store.write(removeIdentity, { account, id: row });
      if (kind === 'missing') return notFound(id);
      if (kind === 'removed') return done(null);
      return refused('forbidden', 'It belongs to an address of the account and goes when the address does.');
    },
  };
}

async function create(
  { store }: JmapDesk,
  account: number,
  object: Record<string, unknown>,
): Promise<Outcome<IdentityObject>> {
  const read = readProperties(NEW_IDENTITY, object);
  if (read.kind === 'refused') return read;
  const { email, ...values } = read.value;
  const saved = await store.write(addIdentity, { account, email, values });
  switch (saved.kind) {
    case 'saved':
      return done({ ...identityObject({ id: saved.id, email, own: false, ...values }) });
    case 'foreign':
      return refused('forbiddenFrom', `${email} is not an address of this account.`);
    case 'too-many':
      return refused('overQuota', 'The account has as many identities as it may have: destroy one first.');
  }
}

async function update(
  desk: JmapDesk,
  account: number,
  id: string,
  patch: Record<string, unknown>,
): Promise<Outcome<null>> {
  const { identities } = await alignedIdentities(desk, account);
  const current = identities.find((one: StoredIdentity) => jmapId('identity', one.id) === id);
  if (current === undefined) return notFound(id);
  const read = readPatched(IDENTITY_VALUES, identityObject(current), patch);
  if (read.kind === 'refused') return read;
  const { kind } = await desk.store.write(changeIdentity, { account, id: current.id, values: read.value });
  return kind === 'changed' ? done(null) : notFound(id);
}

const notFound = (id: string): Outcome<never> => refused('notFound', `There is no identity ${id}.`);
