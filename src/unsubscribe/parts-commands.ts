import { resubscribe, unsubscribe } from './commands.ts';

/** What the writer runs for links in messages. */
export const UNSUBSCRIBE = [resubscribe, unsubscribe];
