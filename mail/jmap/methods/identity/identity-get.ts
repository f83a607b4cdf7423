import { SUBMISSION } from '../../capabilities.ts';
import { alignedIdentities, IDENTITY_PROPERTIES, identityObject } from '../../identity/identity-object.ts';
import type { Method } from '../../method.ts';
import { answerGet, pick, readGet } from '../../standard-get.ts';
import { formatState } from '../../state.ts';

/** Identity/get. RFC 8621 6.1. */
export const identityGet: Method = {
  name: 'Identity/get',
  capability: SUBMISSION,
  async run(call, args) {
    const asked = readGet(call, args, (name) => IDENTITY_PROPERTIES.has(name), {});
    const { identities, state } = await alignedIdentities(call.desk, asked.access.account);
    const found = identities.map((one) => pick(identityObject(one), asked.properties));
    return answerGet(asked, formatState(state), found);
  },
};
