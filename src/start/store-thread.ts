import { runStoreThread } from '../../mail/store/engine/thread.ts';
import { storeParts } from './store-parts.ts';

// The second composition root: what the store's threads load. Nothing here may pull in the rest of the appliance.
runStoreThread(storeParts());
