import type { Method } from '../../method.ts';
import { emailCopy } from './email-copy.ts';
import { emailImport } from './email-import.ts';
import { emailSet } from './email-set.ts';

export const EMAIL_WRITING_METHODS: readonly Method[] = [emailSet, emailCopy, emailImport];
