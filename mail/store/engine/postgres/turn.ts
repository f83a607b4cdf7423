import type { PostgresConnection } from './connection.ts';

/**
 * Result of a body. Rejects when the body awaits something other than its transaction: a turn of the event loop after its
 * last statement ended, no other one was sent. Beside others it may await something as long as they are busy.
 */
export async function settledBy<T>(body: Promise<T>, connection: PostgresConnection): Promise<T> {
  const late = Promise.withResolvers<never>();
  let check: NodeJS.Immediate | undefined;
  const watch = (): void => {
    const { sent } = connection;
    clearImmediate(check);
    check = setImmediate(() => {
      if (connection.sent === sent) late.reject(new Error('a command awaited something other than its transaction'));
    });
  };
  connection.idle = watch;
  if (connection.pending === 0) watch();
  try {
    return await Promise.race([body, late.promise]);
  } finally {
    connection.idle = undefined;
    clearImmediate(check);
  }
}
