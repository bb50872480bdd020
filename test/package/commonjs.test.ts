import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { doors, installPackage, type Project } from '../support/package/installed.js';

let project: Project;
beforeAll(async () => {
  project = await installPackage({ with: ['msw', 'react'] });
});
afterAll(() => project.remove());

describe('the CommonJS build', () => {
  it('loads every door where ES modules cannot be required', async () => {
    // Each as if it were the first one.
    const code = `
      for (const door of ${JSON.stringify(doors)}) {
        for (const path of Object.keys(require.cache)) {
          delete require.cache[path];
        }
        try {
          console.log(door, typeof require(door));
        } catch (error) {
          console.log(door, String(error));
        }
      }`;
    const file = await project.write('strict.cjs', code);
    const output = await project.run(process.execPath, ['--no-experimental-require-module', file]);
    expect(output.trim().split('\n')).toEqual(doors.map((door) => `${door} object`));
  });

  it('makes a call there', async () => {
    const code = `
      const { MessagingClient } = require('postreel');
      const fetch = async () => Response.json({ success: true, data: { id: 'con_1' } });
      const client = new MessagingClient({ apiKey: 'sk_test', baseUrl: 'https://service.test', fetch });
      client.contacts.get('con_1').then(({ id }) => console.log(id));`;
    const file = await project.write('call.cjs', code);
    const output = await project.run(process.execPath, ['--no-experimental-require-module', file]);
    expect(output).toBe('con_1\n');
  });

  it('keeps the names of the clients, which a console shows', async () => {
    const code = `
      const { MediaClient, MessagingClient } = require('postreel');
      console.log(MessagingClient.name, MediaClient.name);`;
    const file = await project.write('names.cjs', code);
    expect(await project.run(process.execPath, [file])).toBe('MessagingClient MediaClient\n');
  });
});
