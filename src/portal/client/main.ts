/** Entry of the scripts of the portal. Each adds to pages that work without it. */
import { addCopyButtons } from './copy.ts';
import { followLog } from './live-log.ts';
import { refreshLiveSection } from './live-section.ts';
import { localizeTimes } from './times.ts';
import { uploadMail } from './mail-upload.ts';
import { openPaletteByKey } from './palette.ts';
import { readFiles } from './read-file.ts';
import { selectAll } from './select-all.ts';

localizeTimes(document);
addCopyButtons();
openPaletteByKey();
readFiles();
selectAll();
followLog();
refreshLiveSection();
uploadMail();
