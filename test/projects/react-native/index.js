import { AppRegistry, AppState, Text } from 'react-native';
import { MessagingClient } from 'postreel';
import { createNativeTracker } from 'postreel/tracker/native';

const baseUrl = 'https://api.example.com';
const tracker = createNativeTracker({
  publicKey: 'pk_test',
  baseUrl,
  storage: 'memory',
  onExit: (leave, comeBack) => {
    const subscription = AppState.addEventListener('change', (state) => {
      if (state === 'active') comeBack();
      if (state === 'background') leave();
    });
    return () => subscription.remove();
  },
});
const messaging = new MessagingClient({ apiKey: 'pk_test', baseUrl });

function App() {
  const track = () => tracker.track('pressed', { email: 'ann@example.com' });
  const trackNow = () => messaging.track({ email: 'ann@example.com', event: 'pressed' });
  return (
    <Text onPress={track} onLongPress={trackNow}>
      Press
    </Text>
  );
}

AppRegistry.registerComponent('app', () => App);
