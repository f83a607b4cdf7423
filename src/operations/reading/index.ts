import type { Operation } from '../../core/operation.ts';
import { getAttachment } from './attachment.ts';
import { listMessages, searchMessages } from './list.ts';
import { getMessage } from './message.ts';
import { resolveLink } from './resolve-link.ts';
import { getThread } from './thread.ts';

export const READING: readonly Operation[] = [
  listMessages,
  searchMessages,
  getMessage,
  getThread,
  getAttachment,
  resolveLink,
];
