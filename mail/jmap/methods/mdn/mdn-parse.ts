import { readMdn } from '../../../message/mdn.ts';
import { access } from '../../access.ts';
import { id, list, object } from '../../arguments.ts';
import { openShown, smallBlob } from '../../blobs.ts';
import { MDN } from '../../capabilities.ts';
import { MethodError } from '../../errors.ts';
import { blobRef } from '../../ids.ts';
import { mdnObject } from '../../mdn/mdn-object.ts';
import type { Method } from '../../method.ts';

/** A receipt is small; what is larger is none, whatever it says. Octets. */
const LARGEST = 1024 * 1024;
/** Each is read whole. */
const MOST_AT_ONCE = 50;

/** MDN/parse. RFC 9007 2.2. */
export const mdnParse: Method = {
  name: 'MDN/parse',
  capability: MDN,
  async run(call, args) {
    const { accountId, blobIds } = object({ accountId: access(call), blobIds: list(id) })(args, '');
    const asked = [...new Set(blobIds)];
    if (asked.length > MOST_AT_ONCE) {
      throw new MethodError('requestTooLarge', `At most ${MOST_AT_ONCE} receipts can be parsed at once.`);
    }
    const parsed: Record<string, unknown> = {};
    const notParsable: string[] = [];
    const notFound: string[] = [];
    for (const one of asked) {
      const ref = blobRef(accountId.account, one);
      const blob = ref && (await openShown(call, accountId.account, ref));
      const octets = blob && (await smallBlob(blob, LARGEST));
      const read = octets && readMdn(octets);
      if (blob === undefined) notFound.push(one);
      else if (read === undefined) notParsable.push(one);
      else parsed[one] = mdnObject(read);
    }
    const orNull = (ids: string[]): string[] | null => (ids.length === 0 ? null : ids);
    return {
      accountId: args['accountId'],
      parsed: Object.keys(parsed).length === 0 ? null : parsed,
      notParsable: orNull(notParsable),
      notFound: orNull(notFound),
    };
  },
};
