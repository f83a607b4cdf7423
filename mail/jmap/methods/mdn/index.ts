import type { Method } from '../../method.ts';
import { mdnParse } from './mdn-parse.ts';
import { mdnSend } from './mdn-send.ts';

export const MDN_METHODS: readonly Method[] = [mdnSend, mdnParse];
