/** Browser and system name from the User-Agent. */
export function browserOfAgent(agent: string): string {
  const browser = /(Firefox|Edg|OPR|Chrome|Safari|curl)\/(\d+)/.exec(agent.replace(/Chrome(?=.* (?:Edg|OPR)\/)/, ''));
  const system = /(Windows|Android|iPhone|iPad|Macintosh|Linux)/.exec(agent)?.[1];
  const name = { Edg: 'Edge', OPR: 'Opera' }[browser?.[1] ?? ''] ?? browser?.[1];
  if (name === undefined) return agent === '' ? 'Unknown' : agent.slice(0, 60);
  return system === undefined ? name : `${name} on ${system === 'Macintosh' ? 'a Mac' : system}`;
}
