import { MessagingClient } from 'postreel';
import { dnsRecords, dnsTable, dnsZone } from 'postreel/node';
import { createFakeMessaging } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import fc from '../support/property.js';

describe('the DNS records of a domain', () => {
  it("are read from the service's response, as a table and as a zone file", async () => {
    const { secretKey: apiKey, baseUrl, fetch } = createFakeMessaging();
    const messaging = new MessagingClient({ apiKey, baseUrl, fetch });
    const domain = await messaging.domains.create({ domain: 'mail.example.com' });
    const records = dnsRecords(domain);
    expect(records.length).toBeGreaterThan(0);
    expect(dnsTable(domain).split('\n')).toHaveLength(records.length + 2);
    for (const { type, name, value } of records) {
      expect(dnsZone(domain)).toContain(`${name}. IN ${type} `);
      expect(dnsTable(domain)).toMatch(new RegExp(`${type} +${name} +.*${value.slice(0, 8)}`));
    }
  });

  it.each([
    ['a list', { records: [{ type: 'TXT', name: 'a.example', value: 'v' }] }],
    ['another name', { dns: [{ record_type: 'txt', host: 'a.example', data: 'v' }] }],
    ['a group', { dkim: { type: 'TXT', name: 'a.example', value: 'v' }, status: 'pending' }],
    ['groups of lists', { data: { spf: [{ type: 'TXT', hostname: 'a.example', content: 'v' }] } }],
  ])('are found in %s', (_, domain) => {
    expect(dnsRecords(domain)).toEqual([{ type: 'TXT', name: 'a.example', value: 'v' }]);
    expect(dnsZone(domain)).toBe('a.example. IN TXT "v"\n');
  });

  it('are an empty list if the service returns no records', () => {
    expect(dnsRecords({ id: 'dom_1', type: 'sending', name: 'example.com' })).toEqual([]);
    expect(dnsRecords({ type: 'TXT', name: 'a', value: 'v\nb IN A 127.0.0.1' })).toEqual([]);
    expect(dnsZone({ id: 'dom_1' })).toBe('');
  });

  it('keep priorities, times to live and host names', () => {
    const records = [
      { type: 'MX', name: '@', value: 'mx.example.net', priority: '5', ttl: 3600 },
      { type: 'MX', name: 'bounce', value: 'mx.example.net' },
      { type: 'MX', name: 'in', value: '20 mx.example.net' },
      { type: 'CNAME', name: 'k1._domainkey.example.com', value: 'k1.example.net.' },
    ];
    expect(dnsZone({ records })).toBe(
      '@ 3600 IN MX 5 mx.example.net.\n' +
        'bounce IN MX 10 mx.example.net.\n' +
        'in IN MX 20 mx.example.net.\n' +
        'k1._domainkey.example.com. IN CNAME k1.example.net.\n',
    );
    expect(dnsTable({ records })).toContain('5 mx.example.net');
  });

  it('split a text of any length into strings of at most 255 characters', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[ -~]{1,600}$/), (value) => {
        fc.pre(!/^".*"$/.test(value));
        const line = dnsZone({ records: [{ type: 'TXT', name: 'a', value }] });
        const strings = [...line.matchAll(/"((?:\\.|[^"\\])*)"/g)].map(([, text = '']) =>
          text.replaceAll(/\\(.)/g, '$1'),
        );
        expect(strings.join('')).toBe(value);
        expect(Math.max(...strings.map(({ length }) => length))).toBeLessThanOrEqual(255);
      }),
    );
  });
});
