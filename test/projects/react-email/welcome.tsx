import { Body, Button, Head, Html, Preview, Text } from 'react-email';

export function Welcome({ name }: { name: string }) {
  return (
    <Html lang="en">
      <Head />
      <Preview>Your account is ready</Preview>
      <Body>
        <Text>Hello {name}, your account is ready.</Text>
        <Button href="https://shop.example.com">Open the shop</Button>
      </Body>
    </Html>
  );
}
