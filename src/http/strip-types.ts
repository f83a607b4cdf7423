import { stripTypeScriptTypes } from 'node:module';

/**
 * Removes the types and comments of a module that browsers load. Node warns at the first use that the function is
 * experimental; the version of Node is fixed, so the warning is suppressed.
 */
export function stripTypes(text: string): string {
  const announce = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    return stripTypeScriptTypes(text, { mode: 'transform' });
  } finally {
    process.emitWarning = announce;
  }
}
