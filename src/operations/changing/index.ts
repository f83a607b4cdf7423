import type { Operation } from '../operation.ts';
import { restoreMessage, trashMessage } from './trash.ts';
import { updateMessage } from './update.ts';

export const CHANGING: readonly Operation[] = [updateMessage, trashMessage, restoreMessage];
