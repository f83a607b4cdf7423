import { saysYes } from '../operations/read-only.ts';
import { TOOLSETS, type Toolset } from '../operations/operation.ts';

/** What a client asked to see; it never decides what can be called, except `readOnly`. */
export interface Trim {
  toolsets: ReadonlySet<Toolset> | undefined;
  tools: ReadonlySet<string> | undefined;
  readOnly: boolean;
  hideUnavailable: boolean;
}

type Header = (name: string) => string | undefined;

/** Reads the query, which wins, and the headers. Unknown names are ignored; nothing known is no wish at all. */
export function readTrim(query: URLSearchParams, header: Header): Trim {
  const wish = (param: string, name: string): string[] =>
    (query.get(param) ?? header(name) ?? '')
      .split(',')
      .map((word) => word.trim().toLowerCase())
      .filter((word) => word !== '');
  const flag = (param: string, name: string): boolean => saysYes(query.get(param) ?? header(name));
  const toolsets = TOOLSETS.filter((one) => wish('toolsets', 'x-service-toolsets').includes(one));
  const tools = wish('tools', 'x-service-tools');
  return {
    toolsets: toolsets.length === 0 ? undefined : new Set(toolsets),
    tools: tools.length === 0 ? undefined : new Set(tools),
    readOnly: flag('readonly', 'x-service-readonly'),
    hideUnavailable: flag('hideUnavailable', 'x-service-hide-unavailable'),
  };
}
