import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const IMPORT = /^(?:import|export)\s+\{([^}]*)\}\s+from\s+'(\.[^']+)'/gm;

const imports = ['mail', 'src'].flatMap((top) =>
  readdirSync(join(root, top), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${top}/${file}`)
    .flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(IMPORT)].map(([, names = '', from = '']) => ({
        file,
        of: normalize(join(dirname(file), from)),
        names: names.split(',').map((one) => one.trim().split(/\s+as\s+/)[0]),
      })),
    ),
);

/** Files that import this name of a module at run time, or hand it on. */
function importersOf(name: string, of: string): string[] {
  return imports.filter((one) => one.of === of && one.names.includes(name)).map(({ file }) => file);
}

const SUBMIT = 'mail/delivery/submission-commit.ts';
/** Registers every command of the engine. */
const PARTS = 'mail/store-thread-parts.ts';

test('one function submits messages, for every protocol', () => {
  expect(importersOf('submitMessage', 'mail/delivery/submit-message.ts').toSorted()).toEqual([
    'mail/jmap/mdn/mdn-submission.ts',
    'mail/jmap/submission/submission-sender.ts',
    'mail/jobs/vacation-responder.ts',
    'mail/receiver/submission.ts',
    'src/sending/dispatch.ts',
  ]);
});

test.each([
  // Every command that takes a message runs all checks and accepts it by the same function.
  [
    'commitSubmission',
    SUBMIT,
    ['mail/delivery/jmap-submission-commit.ts', 'mail/delivery/vacation-answer.ts', 'src/sending/sent-commands.ts'],
  ],
  // Commands are only run by who submits.
  ['submit', SUBMIT, ['mail/jmap/mdn/mdn-submission.ts', PARTS, 'mail/receiver/submission.ts']],
  ['trySubmit', SUBMIT, ['mail/delivery/submit-message.ts', PARTS]],
  ['submitEmail', 'mail/delivery/jmap-submission-commit.ts', ['mail/jmap/submission/submission-sender.ts', PARTS]],
  ['sendVacationAnswer', 'mail/delivery/vacation-answer.ts', ['mail/jobs/vacation-responder.ts', PARTS]],
  [
    'sendEmail',
    'src/sending/sent-commands.ts',
    ['src/operations/sending/as-sender.ts', 'src/sending/dispatch.ts', 'src/start/store-parts.ts'],
  ],
  // Rows of the queue are made for what was submitted, released or forwarded.
  ['sendMessage', 'mail/delivery/outgoing.ts', [SUBMIT, 'mail/delivery/notice.ts']],
  ['enqueue', 'mail/store/queue/queue.ts', ['mail/delivery/deliver.ts', 'mail/delivery/outgoing.ts']],
  ['addRows', 'mail/store/queue/queue.ts', ['mail/delivery/scheduled-messages.ts']],
  ['addSubmission', 'mail/store/queue/queue.ts', ['mail/delivery/scheduled-messages.ts']],
  ['scheduleMessage', 'mail/delivery/scheduled-messages.ts', [SUBMIT]],
])('%s of %s is used by nobody else', (name, of, allowed) => {
  expect(importersOf(name, of).filter((file) => !allowed.includes(file))).toEqual([]);
  expect(importersOf(name, of), 'the name is still there').not.toEqual([]);
});
