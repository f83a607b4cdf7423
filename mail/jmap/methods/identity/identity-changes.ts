import { identityChanges } from '../../../store/identity.ts';
import { SUBMISSION } from '../../capabilities.ts';
import { alignedIdentities } from '../../identity/identity-object.ts';
import type { Method } from '../../method.ts';
import { changesAfter, tellChanges } from '../../object-changes.ts';
import { readChanges } from '../../standard-changes.ts';

/** Identity/changes. RFC 8621 6.2. */
export const identityChangesMethod: Method = {
  name: 'Identity/changes',
  capability: SUBMISSION,
  async run(call, args) {
    const asked = readChanges(call, args);
    await alignedIdentities(call.desk, asked.access.account);
    return tellChanges(asked, 'identity', await call.desk.store.read(identityChanges, changesAfter(asked)));
  },
};
