import { access } from '../../access.ts';
import { bool, mapOf, nullable, object, optional, plainObject, text } from '../../arguments.ts';
import { MAIL } from '../../capabilities.ts';
import { EmailCopies } from '../../compose/copy-email.ts';
import { MethodError } from '../../errors.ts';
import { fromAccess } from '../../from-access.ts';
import type { Method } from '../../method.ts';
import { refusable } from '../../set-refusal.ts';
import { checkCount, createEach } from '../../standard-set.ts';

/** RFC 8621 4.7, 8620 5.4. */
export const emailCopy: Method = {
  name: 'Email/copy',
  capability: MAIL,
  async run(call, args) {
    const read = object({
      fromAccountId: fromAccess(call),
      ifFromInState: nullable(text),
      accountId: access(call, 'write'),
      ifInState: nullable(text),
      create: mapOf(plainObject),
      onSuccessDestroyOriginal: optional(bool, false),
      destroyFromIfInState: nullable(text),
    })(args, '');
    const { fromAccountId: from, accountId: to } = read;
    if (from.account === to.account) {
      throw new MethodError('invalidArguments', '"fromAccountId" must be another account than "accountId".', {
        arguments: ['fromAccountId'],
      });
    }
    checkCount(call, read.create.size);
    const copies = await EmailCopies.begin(call, { from: from.account, to: to.account, ...read });
    const created = await createEach(call, read.create, (given) => refusable(call.desk.log, () => copies.copy(given)));
    if (read.onSuccessDestroyOriginal && copies.originals.length > 0) {
      call.follow('Email/set', {
        accountId: args['fromAccountId'],
        ifInState: read.destroyFromIfInState,
        destroy: copies.originals,
      });
    }
    return { fromAccountId: args['fromAccountId'], accountId: args['accountId'], ...copies.states, ...created };
  },
};
