import type { Operation } from '../../core/operation.ts';
import { waitForCode } from './code.ts';
import { waitForEmail } from './email.ts';

export const WAITING: readonly Operation[] = [waitForEmail, waitForCode];
