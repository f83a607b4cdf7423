import { idOrCreation, list, nullable, object, text } from '../../arguments.ts';
import { CORE } from '../../capabilities.ts';
import { realId } from '../../created.ts';
import { MethodError } from '../../errors.ts';
import type { Method } from '../../method.ts';
import { READABLE, SECRET, shownSubscription } from '../../push/subscription-shown.ts';
import { pick } from '../../standard-get.ts';
import { pushSubscriptions } from '../../../store/push-subscription.ts';

/** PushSubscription/get: of no account, without a state, and only one's own. RFC 8620 7.2.1. */
export const pushSubscriptionGet: Method = {
  name: 'PushSubscription/get',
  capability: CORE,
  async run(call, args) {
    const { ids, properties } = object({ ids: nullable(list(idOrCreation)), properties: nullable(list(text)) })(
      args,
      '',
    );
    checkProperties(properties ?? []);
    const { desk, session } = call;
    const rows = await desk.store.read(pushSubscriptions, { credential: session.credential, now: desk.clock() });
    const wanted = properties === null ? null : new Set(['id', ...properties]);
    const all = new Map(rows.map(shownSubscription).map((one) => [one.id, pick(one, wanted)]));
    const asked = ids === null ? [...all.keys()] : [...new Set(ids.map((one) => realId(call, one) ?? one))];
    return { list: asked.flatMap((one) => all.get(one) ?? []), notFound: asked.filter((one) => !all.has(one)) };
  },
};

function checkProperties(properties: readonly string[]): void {
  const secret = properties.find((one) => SECRET.includes(one));
  if (secret !== undefined) throw new MethodError('forbidden', `"${secret}" can be set and never read.`);
  const unknown = properties.find((one) => !(READABLE as readonly string[]).includes(one));
  if (unknown !== undefined) {
    throw new MethodError('invalidArguments', `There is no property "${unknown.slice(0, 100)}".`, {
      arguments: ['properties'],
    });
  }
}
