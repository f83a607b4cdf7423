import type { Operation } from '../../core/operation.ts';
import { restoreMessage, trashMessage } from './trash.ts';
import { updateMessage } from './update.ts';

export const MESSAGE_UPDATES: readonly Operation[] = [updateMessage, trashMessage, restoreMessage];
