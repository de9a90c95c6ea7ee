// Kafka's Java consumer for whoever connects: one connection, one consumer, one thread.
// A request is a line of words between tabs, and so is its answer; text is URL-encoded.
// The host prints its port, and ends when its standard input does.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.StringDeserializer;

public class ConsumerHost {
    public static void main(String[] args) throws IOException {
        ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        System.out.println(server.getLocalPort());
        start(() -> {
            while (true) {
                Socket socket = server.accept();
                start(() -> new Guest().serve(socket));
            }
        });
        while (System.in.read() != -1) {
            continue;
        }
    }

    interface Job {
        void run() throws IOException;
    }

    static void start(Job job) {
        Thread thread = new Thread(() -> {
            try {
                job.run();
            } catch (IOException error) {
                System.err.println(error);
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    static class Guest implements ConsumerRebalanceListener {
        private KafkaConsumer<String, String> consumer;
        private final List<String> events = new ArrayList<>();

        void serve(Socket socket) throws IOException {
            BufferedReader in = new BufferedReader(
                    new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            PrintWriter out = new PrintWriter(socket.getOutputStream(), false, StandardCharsets.UTF_8);
            try (socket) {
                for (String line = in.readLine(); line != null; line = in.readLine()) {
                    out.print(answer(line.split("\t", -1)) + "\n");
                    out.flush();
                }
            } finally {
                if (consumer != null) {
                    consumer.close(Duration.ZERO);
                }
            }
        }

        private String answer(String[] words) {
            try {
                return "ok\t" + call(words[0], Arrays.asList(words).subList(1, words.length));
            } catch (RuntimeException error) {
                int code = Errors.forException(error).code();
                return "error\t" + code + "\t" + encode(error.toString());
            }
        }

        private String call(String name, List<String> words) {
            switch (name) {
                case "open":
                    return open(words);
                case "topics":
                    consumer.subscribe(words, this);
                    return "";
                case "pattern":
                    consumer.subscribe(Pattern.compile(decode(words.get(0))), this);
                    return "";
                case "regex":
                    consumer.subscribe(new SubscriptionPattern(decode(words.get(0))), this);
                    return "";
                case "poll":
                    return poll(Long.parseLong(words.get(0)));
                case "assign":
                    return assign(words);
                case "commit":
                    return commit(words);
                case "committed":
                    return committed(words);
                case "position":
                    return String.valueOf(consumer.position(place(words.get(0))));
                case "close":
                    consumer.close(Duration.ofSeconds(20));
                    consumer = null;
                    return "";
                default:
                    throw new IllegalArgumentException(name);
            }
        }

        private String open(List<String> words) {
            Properties settings = new Properties();
            for (String word : words) {
                String[] pair = word.split("=", 2);
                settings.put(pair[0], pair[1]);
            }
            consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
            return "";
        }

        private String poll(long timeoutMs) {
            List<String> found = new ArrayList<>();
            for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(timeoutMs))) {
                String where = record.topic() + ":" + record.partition() + ":" + record.offset();
                found.add(where + ":" + encode(record.value()));
            }
            String told = String.join(";", events);
            events.clear();
            return list(consumer.assignment()) + "\t" + told + "\t" + String.join(",", found);
        }

        private String assign(List<String> words) {
            Map<TopicPartition, Long> wanted = new HashMap<>();
            for (String word : words) {
                String[] pair = word.split("=", 2);
                wanted.put(place(pair[0]), pair[1].isEmpty() ? null : Long.valueOf(pair[1]));
            }
            consumer.assign(wanted.keySet());
            wanted.forEach((place, offset) -> {
                if (offset != null) {
                    consumer.seek(place, offset);
                }
            });
            return "";
        }

        private String commit(List<String> words) {
            if (words.isEmpty()) {
                consumer.commitSync();
                return "";
            }
            Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
            for (String word : words) {
                String[] parts = word.split("=", 3);
                OffsetAndMetadata offset =
                        new OffsetAndMetadata(Long.parseLong(parts[1]), decode(parts[2]));
                offsets.put(place(parts[0]), offset);
            }
            consumer.commitSync(offsets);
            return "";
        }

        private String committed(List<String> words) {
            Set<TopicPartition> wanted = new HashSet<>();
            words.forEach(word -> wanted.add(place(word)));
            return consumer.committed(wanted).entrySet().stream()
                    .filter(entry -> entry.getValue() != null)
                    .map(entry -> name(entry.getKey()) + "=" + entry.getValue().offset()
                            + "=" + encode(entry.getValue().metadata()))
                    .collect(Collectors.joining("\t"));
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            events.add("assign=" + list(partitions));
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            events.add("revoke=" + list(partitions));
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> partitions) {
            events.add("lose=" + list(partitions));
        }

        private static TopicPartition place(String word) {
            int colon = word.lastIndexOf(':');
            return new TopicPartition(
                    word.substring(0, colon), Integer.parseInt(word.substring(colon + 1)));
        }

        private static String name(TopicPartition place) {
            return place.topic() + ":" + place.partition();
        }

        private static String list(Collection<TopicPartition> places) {
            return places.stream().map(Guest::name).collect(Collectors.joining(","));
        }

        private static String encode(String text) {
            return URLEncoder.encode(text, StandardCharsets.UTF_8);
        }

        private static String decode(String text) {
            return URLDecoder.decode(text, StandardCharsets.UTF_8);
        }
    }
}
