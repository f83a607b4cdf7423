import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { play, readDialogs } from '../support/dialog.ts';
import { fakeReceiver, type FakeReceiver, type Ports } from '../support/fake-receiver-backend.ts';
import { Wire } from '../support/wire.ts';

let door: FakeReceiver;
beforeAll(async () => {
  door = await fakeReceiver();
});
afterAll(() => door.receiver.close());

const dialogs = readDialogs(join(import.meta.dirname, 'smtp'));

// The store may answer at once or promise to: a client must not be able to tell.
for (const asynchronous of [false, true]) {
  for (const dialog of dialogs) {
    test(`${dialog.file}: ${dialog.title}${asynchronous ? ' (promised)' : ''}`, async () => {
      door.backend.asynchronous = asynchronous;
      const listener = (dialog.settings.get('door') ?? 'mx') as keyof Ports;
      await play(dialog, () => Wire.open(door.ports[listener], { tls: listener === 'submissions' }));
      expect(door.backend.failure).toBeUndefined();
    });
  }
}
