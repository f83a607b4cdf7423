import type { Method } from '../../method.ts';
import { emailGet } from './email-get.ts';
import { emailParse } from './email-parse.ts';

export const EMAIL_READING_METHODS: readonly Method[] = [emailGet, emailParse];
