import { access } from '../../access.ts';
import { idOrCreation, mapOf, nullable, object, plainObject } from '../../arguments.ts';
import { MDN } from '../../capabilities.ts';
import { realId } from '../../created.ts';
import { MethodError, type SetError } from '../../errors.ts';
import { alignedIdentities } from '../../identity/identity-object.ts';
import { jmapId, jmapRow } from '../../ids.ts';
import { MDN_VALUES } from '../../mdn/mdn-object.ts';
import { sendMdn } from '../../mdn/send-mdn.ts';
import type { Call, Method } from '../../method.ts';
import { refusable } from '../../set-refusal.ts';
import { readProperties } from '../../set-properties.ts';

/** MDN/send. RFC 9007 2.1. */
export const mdnSend: Method = {
  name: 'MDN/send',
  capability: MDN,
  async run(call, args) {
    const asked = object({
      accountId: access(call, 'write'),
      identityId: idOrCreation,
      send: mapOf(plainObject),
      onSuccessUpdateEmail: nullable(mapOf(plainObject)),
    })(args, '');
    if (asked.send.size > call.desk.limits.maxObjectsInSet) {
      throw new MethodError('requestTooLarge', `At most ${call.desk.limits.maxObjectsInSet} can be sent at once.`);
    }
    const { account } = asked.accountId;
    const { identities } = await alignedIdentities(call.desk, account);
    const identityId = realId(call, asked.identityId);
    const identity = identities.find((one) => jmapId('identity', one.id) === identityId);
    const sent = new Map<string, unknown>();
    const notSent = new Map<string, SetError>();
    const update = new Map<string, unknown>();
    for (const [name, given] of asked.send) {
      const read = readProperties(MDN_VALUES, given);
      const emailId = read.kind === 'done' ? (realId(call, read.value.forEmailId) ?? '') : '';
      if (read.kind === 'refused') notSent.set(name, read.error);
      else if (identity === undefined) notSent.set(name, noIdentity);
      else if (update.has(emailId)) notSent.set(name, twice);
      else {
        const email = jmapRow('email', account, emailId);
        const what = { access: asked.accountId, identity, email, values: read.value };
        const outcome = await refusable(call.desk.log, () => sendMdn(call.desk, what));
        if (outcome.kind === 'refused') notSent.set(name, outcome.error);
        else {
          sent.set(name, outcome.value);
          update.set(emailId, afterwards(asked.onSuccessUpdateEmail, name));
        }
      }
    }
    follow(call, args['accountId'], update);
    return { accountId: args['accountId'], sent: orNull(sent), notSent: orNull(notSent) };
  },
};

const SENT = 'keywords/$mdnsent';

const noIdentity: SetError = {
  type: 'invalidProperties',
  description: 'There is no such identity.',
  properties: ['identityId'],
};

const twice: SetError = { type: 'mdnAlreadySent', description: 'The same call sends a receipt for it already.' };

/** What the client wants done to the email, and always $mdnsent, whatever it says of that. RFC 8098 2.1, 3503. */
function afterwards(
  wishes: ReadonlyMap<string, Record<string, unknown>> | null,
  name: string,
): Record<string, unknown> {
  const { keywords, ...patch } = wishes?.get(`#${name}`) ?? wishes?.get(name) ?? {};
  const rest = Object.entries(patch).filter(([path]) => path.toLowerCase() !== SENT);
  const all = keywords === undefined ? { [SENT]: true } : { keywords: withSent(keywords) };
  return { ...Object.fromEntries(rest), ...all };
}

/** What is no list of keywords is for Email/set to refuse. */
function withSent(keywords: unknown): unknown {
  if (typeof keywords !== 'object' || keywords === null || Array.isArray(keywords)) return keywords;
  const rest = Object.entries(keywords).filter(([name]) => name.toLowerCase() !== '$mdnsent');
  return { ...Object.fromEntries(rest), $mdnsent: true };
}

function follow(call: Call, accountId: unknown, update: ReadonlyMap<string, unknown>): void {
  if (update.size > 0) call.follow('Email/set', { accountId, update: Object.fromEntries(update) });
}

function orNull<T>(found: ReadonlyMap<string, T>): Record<string, T> | null {
  return found.size === 0 ? null : Object.fromEntries(found);
}
