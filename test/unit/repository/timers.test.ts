import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Periodic and due work is a job of the scheduler. These files have timers of their own, each for the reason given. */
const ALLOWED: Record<string, string> = {
  'mail/jobs/scheduler.ts': 'the scheduler',
  // A command of its own process.
  'mail/backup/database-snapshot.ts': 'pause between two looks at a log that is being written',
  'mail/backup/pace.ts': 'pace of one backup',
  'src/backup/continuous-backup.ts': 'pause between two copies',
  // Time limits of one connection, request or thread.
  'mail/dns/bounded-resolver.ts': 'time limit of one lookup',
  'mail/dns/exchange.ts': 'time limit of one DNS exchange',
  'mail/imap/search/session-search.ts': 'progress of one search, and end with its client',
  'mail/imap/server.ts': 'idle limit of connections, and of closing',
  'mail/policy/lists/dns-lists.ts': 'time limit of the lookups of one message',
  'mail/receiver/server.ts': 'idle limit of connections, and of closing',
  'mail/receiver/session.ts': 'delay of the answers of one connection',
  'mail/receiver/tarpit.ts': 'delay of the replies of one connection',
  'mail/relay/clock.ts': 'the clock that the relay is given',
  'mail/relay/connection.ts': 'time limits of one connection',
  'mail/filter/client.ts': 'time limit of one message, and rest of a failed thread',
  'mail/limits/semaphore.ts': 'time limit of waiting for a permit',
  'mail/filter/worker.ts': 'time limit of closing a thread',
  'mail/store/blob/blob-request.ts': 'time limit of one file for a thread',
  'mail/store/engine/postgres/commit-feed.ts':
    'reads of the log of commits, and repeats of a signal while the database is away',
  'mail/store/engine/postgres/election.ts': 'question for the lead, whose silence ends it',
  'mail/store/engine/postgres/node-lock.ts': 'pause until the lock of an ended node is free',
  'mail/store/engine/postgres/patience.ts': 'end of a silent connection',
  'mail/store/engine/postgres/reopened.ts': 'end of a silent connection beside the batches',
  'mail/store/engine/postgres/time-limit.ts': 'end of a silent attempt to connect',
  'mail/store/engine/postgres/watch.ts': 'question to the database, which must also be asked while nothing else is',
  'mail/store/engine/postgres/writer.ts': 'pause before the result of a lost commit is asked for again',
  'mail/store/mailbox/range-log.ts': 'pause before logged flags are written to the rows',
  'mail/store/mailbox/view-reader.ts': 'repetition of a failed read of views',
  'mail/store/bucket/s3-client.ts': 'repetition and time limit of one request',
  'mail/store/search/text-client.ts': 'time limit of one search, and end of an idle thread',
  'src/start/leadership.ts': 'pause before a part of the leader is started again',
  'src/start/shared-parts.ts': 'pause that a DNS provider demands between two requests',
  'src/cli/export-job.ts': 'progress of one command',
  'src/cli/import-progress.ts': 'progress of one command',
  'src/cli/setup-program.ts': 'pauses of one command, until its records are visible',
  'src/backup/continuous-copies.ts': 'time limit of stopping a process',
  'src/start/upgrade-progress.ts': 'log lines during the change of the tables, before the scheduler exists',
  'src/transfers/import-run.ts': 'saved progress of one import',
  'mail/transfer/imap/pull.ts': 'pace of one import',
  'mail/transfer/imap/remote-steps.ts': 'pause before a step of an import is repeated',
  'mail/transfer/imap/remote-session.ts': 'limit of octets of one command',
  'src/operator-socket/client.ts': 'time limit of one request',
  'src/name-server/server.ts': 'time limit of one connection',
  'src/doctor/relay-test.ts': 'time limit of one dialog',
  'src/doctor/scanner-state.ts': 'time limit of one connection',
  'src/domains/check.ts': 'time limit of one check',
  'src/http/alpn-challenges.ts': 'time limit of one handshake',
  'src/http/event-writer.ts': 'keep-alive and time limits of one connection',
  'src/http/request-drain.ts': 'time limit of one stop',
  'src/jmap/api-route.ts': 'time limit of one request',
  'src/jmap/download-route.ts': 'time limit of one request',
  'src/jmap/first-route.ts': 'time limit of one request',
  'src/jmap/upload-route.ts': 'time limit of one request',
  'src/jmap/session-end.ts': 'session check of one connection',
  'src/jmap/jmap-socket.ts': 'ping of one connection',
  'src/jmap/web-socket-route.ts': 'time limit of closing one connection',
  'src/start/main.ts': 'time limit of stopping',
  'src/reading/worker/reading-thread.ts': 'time limit of one message, and end of an idle thread',
  'src/services/lines.ts': 'rate of the output of one program',
  'src/services/program.ts': 'restart and time limits of one program',
  'src/waiting/caller-wait.ts': 'time limit and progress of one wait',
  'src/webhooks/sender.ts': 'time limit of one request',
  // Pauses within one request.
  'mail/imap/options.ts': 'the clock that sessions are given',
  'mail/login/logins.ts': 'delay of one login',
  'src/people/sign-in.ts': 'delay of one sign-in',
  'src/operations/sending/webhook-replay.ts': 'waits for one delivery',
  'src/http/routes/send-requests.ts': 'waits for its turn within one request',
  'src/services/left-over.ts': 'waits for the end of one program',
  'src/start/certificates.ts': 'the clock that orders of certificates are given',
  // Wake-ups that come together, and pauses that a wake-up ends.
  'mail/limits/rate-limited-log.ts': 'one log line for a minute of repeated ones',
  'mail/jmap/push/shared-state-watch.ts': 'as state-watch.ts',
  'mail/jmap/push/state-watch.ts': 'one push for changes that come together',
  'mail/relay/store-queue.ts': 'one look for messages that are queued together',
  'src/jmap/push-sender.ts': 'retry of one device',
  'src/waiting/journal-feed.ts': 'one look for events that come together',
  'src/waiting/wait-registry.ts': 'looks only while somebody waits',
  'src/webhooks/dispatcher.ts': 'one look for events that come together, and the next due delivery',
  'src/webhooks/recorder.ts': 'pause while the store takes nothing',
  'mail/login/expiries.ts': 'looks only while a session with an expiry is open',
  // Threads of their own, and the store that jobs are built on.
  'mail/limits/watchdog.ts': 'signs of life of one thread',
  'mail/filter/thread.ts': 'heartbeat of the thread while it works',
  'mail/store/engine/idle-gc.ts': 'memory of each thread of the store',
  'mail/store/search/text-worker.ts': 'pauses of the indexing thread',
  'mail/store/store.ts': 'free space of the disk, below the jobs that write',
};

const TIMER = /\bset(?:Interval|Timeout)\(|\bsetTimeout as\b/;

test('files with timers of their own are those with a reason', () => {
  const using = ['mail', 'src'].flatMap((top) =>
    readdirSync(join(root, top), { recursive: true, encoding: 'utf8' })
      .map((file) => `${top}/${file}`)
      // It runs in browsers.
      .filter((file) => !/^src\/(?:portal|webmail)\/client\//.test(file))
      .filter((file) => file.endsWith('.ts') && TIMER.test(readFileSync(join(root, file), 'utf8'))),
  );
  expect(using.sort()).toEqual(Object.keys(ALLOWED).sort());
});
