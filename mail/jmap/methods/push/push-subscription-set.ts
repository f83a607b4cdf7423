import { idOrCreation, list, mapOf, nullable, object, plainObject } from '../../arguments.ts';
import { CORE } from '../../capabilities.ts';
import { MethodError } from '../../errors.ts';
import type { Method } from '../../method.ts';
import { subscriptionSetter } from '../../push/subscription-setter.ts';
import { refusing } from '../../set-refusal.ts';
import { runSet } from '../../standard-set.ts';

/** PushSubscription/set: of no account, and without states. RFC 8620 7.2.2. */
export const pushSubscriptionSet: Method = {
  name: 'PushSubscription/set',
  capability: CORE,
  async run(call, args) {
    const objects = nullable(mapOf(plainObject));
    const { create, update, destroy } = object({
      create: objects,
      update: objects,
      destroy: nullable(list(idOrCreation)),
    })(args, '');
    const most = call.desk.limits.maxObjectsInSet;
    if ((create?.size ?? 0) + (update?.size ?? 0) + (destroy?.length ?? 0) > most) {
      throw new MethodError('requestTooLarge', `At most ${most} objects can be set at once.`);
    }
    const set = {
      accountId: '',
      ifInState: null,
      create: create ?? new Map<string, Record<string, unknown>>(),
      update: update ?? new Map<string, Record<string, unknown>>(),
      destroy: [...new Set(destroy)],
    };
    const {
      accountId: _,
      oldState: __,
      newState: ___,
      ...answer
    } = await runSet(call, set, refusing(subscriptionSetter(call), call.desk.log));
    return answer;
  },
};
