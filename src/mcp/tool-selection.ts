import { isFlagSet } from '../core/mode.ts';
import { TOOLSETS, type Toolset } from '../core/operation.ts';

/** Filters of tools/list. Only `readOnly` restricts calls too. */
export interface ToolSelection {
  toolsets: ReadonlySet<Toolset> | undefined;
  tools: ReadonlySet<string> | undefined;
  readOnly: boolean;
}

type Header = (name: string) => string | undefined;

/** Reads the filters from the query, which wins, and the headers. Ignores unknown names. */
export function readToolSelection(query: URLSearchParams, header: Header): ToolSelection {
  const wish = (param: string, name: string): string[] =>
    (query.get(param) ?? header(name) ?? '')
      .split(',')
      .map((word) => word.trim().toLowerCase())
      .filter((word) => word !== '');
  const flag = (param: string, name: string): boolean => isFlagSet(query.get(param) ?? header(name));
  const toolsets = TOOLSETS.filter((one) => wish('toolsets', 'x-service-toolsets').includes(one));
  const tools = wish('tools', 'x-service-tools');
  return {
    toolsets: toolsets.length === 0 ? undefined : new Set(toolsets),
    tools: tools.length === 0 ? undefined : new Set(tools),
    readOnly: flag('readonly', 'x-service-readonly'),
  };
}
