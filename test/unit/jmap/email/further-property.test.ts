import { expect, test } from 'vitest';
import { MAILSTEAD } from '../../../../mail/jmap/capabilities.ts';
import { addFurther, furtherOf, type FurtherProperty } from '../../../../mail/jmap/email/further-property.ts';
import type { Call } from '../../../../mail/jmap/method.ts';

const story: FurtherProperty = {
  name: 'mailstead:story',
  capability: MAILSTEAD,
  read: (_call, account, emails) => Promise.resolve(new Map(emails.slice(1).map((id) => [id, `${account}/${id}`]))),
};

const using = (...capabilities: string[]): Call => ({ using: new Set(capabilities) }) as unknown as Call;

test('a further property is there for who uses its capability, and null where it has no value', async () => {
  expect(furtherOf(using('urn:x'), [story])).toEqual([]);
  const call = using(MAILSTEAD);
  const objects: Record<string, unknown>[] = [{ id: 'a' }, { id: 'b' }];
  await addFurther(call, 7, [1, 2], objects, furtherOf(call, [story]));
  expect(objects).toEqual([
    { id: 'a', 'mailstead:story': null },
    { id: 'b', 'mailstead:story': '7/2' },
  ]);
});
