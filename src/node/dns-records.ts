import { isRecord } from '../core/values.js';

/** A DNS record to add, so that a domain can be verified. */
export interface DnsRecord {
  /** `TXT`, `CNAME` or `MX`, as the service returns it. */
  readonly type: string;
  readonly name: string;
  readonly value: string;
  /** The priority of an `MX` record: lower numbers come first. */
  readonly priority?: number | undefined;
  /** The time to live, in seconds. */
  readonly ttl?: number | undefined;
}

// The usual names of these fields: the service does not document them.
const names = {
  type: ['type', 'recordType', 'record_type'],
  name: ['name', 'host', 'hostname', 'key'],
  value: ['value', 'data', 'content', 'target', 'pointsTo'],
  priority: ['priority', 'preference'],
  ttl: ['ttl'],
} as const;

/**
 * Finds the DNS records in a domain, or in the response of a check, wherever the service puts them: each
 * object with a type, a name and a value. Returns an empty array if there are none.
 * @example
 * const domain = await messaging.domains.create({ domain: 'mail.example.com' });
 * console.log(dnsTable(domain), dnsZone(domain));
 */
export function dnsRecords(domain: object): DnsRecord[] {
  if (isRecord(domain)) {
    const own = recordOf(domain);
    return own ? [own] : Object.values(domain).flatMap(findRecords);
  }
  return findRecords(domain);
}

function findRecords(value: unknown): DnsRecord[] {
  if (Array.isArray(value)) {
    return value.flatMap(findRecords);
  }
  return isRecord(value) ? dnsRecords(value) : [];
}

/** The records as lines of a zone file (RFC 1035), to import at a DNS provider. */
export function dnsZone(domain: object): string {
  return dnsRecords(domain)
    .map(({ type, name, value, priority, ttl }) =>
      [
        toAbsolute(name),
        ttl,
        'IN',
        type,
        type === 'MX' ? (priority ?? 10) : undefined,
        dataOf(type, value),
      ]
        .filter((part) => part !== undefined)
        .join(' '),
    )
    .map((line) => `${line}\n`)
    .join('');
}

/** The records as a table in plain text, to read or to mail to the administrator of the DNS. */
export function dnsTable(domain: object): string {
  const rows = dnsRecords(domain).map(({ type, name, value, priority }) => [
    type,
    name,
    priority === undefined ? value : `${priority} ${value}`,
  ]);
  const table = [['Type', 'Name', 'Value'], ...rows];
  const widthOf = (column: number) => Math.max(...table.map((row) => row[column]?.length ?? 0));
  const widths = [widthOf(0), widthOf(1), 0];
  return table
    .map((row) => row.map((text, column) => text.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

function recordOf(fields: Readonly<Record<string, unknown>>): DnsRecord | undefined {
  const find = (keys: readonly string[]) =>
    keys.map((key) => fields[key]).find((value) => value !== undefined && value !== null);
  const [type, name, text] = [find(names.type), find(names.name), find(names.value)];
  const isRecordLine = [type, name, text].every(
    (part) => typeof part === 'string' && !/[\r\n]/.test(part), // it would begin a new line
  );
  if (!isRecordLine) {
    return undefined;
  }
  // Some services put the priority of an MX record into its value: `10 mx.example.com`.
  const [, inValue, rest] = /^MX$/i.test(type as string)
    ? (/^(\d+)\s+(.+)$/.exec(text as string) ?? [])
    : [];
  return {
    type: (type as string).toUpperCase(), // as: three strings, checked above
    name: name as string,
    value: rest ?? (text as string),
    priority: numberOf(find(names.priority) ?? inValue),
    ttl: numberOf(find(names.ttl)),
  };
}

function numberOf(value: unknown): number | undefined {
  const number = Number(value);
  return value === undefined || Number.isNaN(number) ? undefined : number;
}

// Add the final dot: a name of several labels would otherwise count as relative to the zone.
function toAbsolute(name: string): string {
  return name.includes('.') && !name.endsWith('.') ? `${name}.` : name;
}

/** Splits a text of more than 255 bytes into several strings of one record. */
function dataOf(type: string, value: string): string {
  if (type !== 'TXT') {
    return /^(CNAME|MX|NS)$/.test(type) ? toAbsolute(value) : value;
  }
  const unquoted = /^"(.*)"$/s.exec(value)?.[1] ?? value;
  const strings = unquoted.match(/.{1,255}/gs) ?? [''];
  return strings.map((text) => `"${text.replaceAll(/[\\"]/g, String.raw`\$&`)}"`).join(' ');
}
